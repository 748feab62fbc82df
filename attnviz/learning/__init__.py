"""The feature Learning: toys as they train, moment by moment, and what they write at each moment.

Learning knows toys, analysis and kit. It knows no other feature; Streamlit is only in `page/`.
"""
