// Constants that no payload carries: the words of each kind and the colour scales. The bundle has here what
// attnviz/kit/bundle.py says.

export const FIXED = {};
