// Which widget a file is of, and the controls that it leaves out, as they need Python. The bundle fills both in
// (attnviz/kit/bundle.py).

export const WIDGET = "";
export const LACKS = [];
