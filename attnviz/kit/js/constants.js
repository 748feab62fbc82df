// Constants that no payload carries: the words of each kind and the colour scales. The bundle has here what
// attnviz/kit/constants.py says.

export const FIXED = {};
