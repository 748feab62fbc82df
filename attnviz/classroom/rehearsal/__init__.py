"""A class with invented students, so that a teacher can try a lesson. Nothing of it is stored."""
