// What a file of this widget is made of, and the controls that it leaves out, as they need Python. The bundle fills both
// in (attnviz/widgets/bundle.py).

export const WIDGET = "";
export const LACKS = [];
export const PAGE = "";
export const FIGURE = "";
