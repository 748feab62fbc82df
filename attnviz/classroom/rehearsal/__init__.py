"""A class with invented students, with which a teacher can try a lesson. Nothing of it is stored."""
