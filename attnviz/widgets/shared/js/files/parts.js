// What a file of this widget is made of, and the controls that nobody answers there. Python says it with the script
// (attnviz/widgets/bundle.py).

export const WIDGET = "";
export const LACKS = [];
export const PAGE = "";
export const FIGURE = "";
