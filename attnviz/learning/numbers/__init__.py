"""Running a trained toy on a typed line: its output and its maps."""
