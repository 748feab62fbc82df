// What no payload says, because it never changes: the words of each kind and the colour scales. The bundle has here what
// attnviz/widgets/heads/constants.py says.

export const FIXED = {};
