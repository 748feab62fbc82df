// What the terms on a widget's controls mean, in small letters. The bundle has here what assets/terms says.

export const DEFINITIONS = {};
