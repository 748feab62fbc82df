"""Models on other machines: the service that runs them, and the client that asks it. Ray is used here.

The engine knows models and traces. It knows no page and no visitor.
"""
