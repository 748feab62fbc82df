// What the terms on a widget's controls mean, in small letters. The bundle has here what attnviz/text/glossary.py says.

export const DEFINITIONS = {};
