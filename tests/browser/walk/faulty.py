"""A page with faults, each of which a walk must notice."""

import logging

import streamlit as st

if st.button("Raise"):
    raise RuntimeError("on purpose")
if st.button("Log"):
    logging.getLogger("faulty").warning("a warning on purpose")
if st.button("Console"):
    st.html("<script>console.error('said on purpose')</script>", unsafe_allow_javascript=True)
st.selectbox("Forgotten", ["one", "two"])  # no address keeps it
st.selectbox("Kept", ["three", "four"], key="kept", bind="query-params")
st.button("CSV of nothing")
