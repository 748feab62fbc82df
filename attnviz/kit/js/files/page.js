// What every file of a widget is made of. The bundle fills it in (attnviz/kit/bundle.py).

export const PAGE = "";
export const FIGURE = "";
