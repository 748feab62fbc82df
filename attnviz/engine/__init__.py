"""The engine runs models on other machines: a service that runs them on Ray, and a client that sends it requests.

This folder builds on models and traces. It uses no page and no visitor.
"""
