// Links by hand have a colour that the scale of scores has not, and a shape: sure ones are solid, possible ones dashed.

export const goldColour = ({ theme }) => (theme.name === "dark" ? "#2dd4bf" : "#0f766e");
