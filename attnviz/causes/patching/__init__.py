"""The picture Patching: matrices of what each patch from one run into another restores."""
