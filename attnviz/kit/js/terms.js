// Definitions of the terms on a widget's controls, by term in small letters. The bundle fills them in from assets/terms.

export const DEFINITIONS = {};
