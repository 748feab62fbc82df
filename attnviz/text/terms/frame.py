"""The terms of what stands around every page: the top bar, the status bar and the welcome."""

FRAME: dict[str, str] = {
    # The top bar
    "Model": "Which model runs: the translator that comes with attnviz, or any Hugging Face checkpoint.",
    "Source sentence": "What the model reads and translates. Enter runs the model.",
    "Source text": "What the encoder reads. Enter runs the model.",
    "Sentence": "What the model reads. Enter runs it.",
    "Second sentence": "A sentence that is read together with the first one, as one of a pair. It may stay empty.",
    "Prompt": "What the model reads first and then continues. Enter runs it.",
    "Tokens to write": "How many tokens the model adds to the prompt. 0: only the prompt is read.",
    "To": "The language that the model translates into.",
    "Target": "What the decoder reads after its start token. Empty: what the model writes itself. A text that you "
    "type is read as if the model had written it.",
    "About this model": "What is known about this model: layers, heads, positions, vocabulary, size, licence.",
    "Run": "Runs the model. Pressing Enter in a sentence does the same.",
    "Embed": "Copies the code that shows this picture on a page of your own. Another site can show it only if the "
    "setting embedders of this instance names that site, and never where a password or a login is asked for.",
    "Add to lesson": "Adds this picture, with all its settings, as a step to your draft of a lesson. Your browser "
    "keeps the draft; write its texts and questions on the Lessons page.",
    "Present": "Shows the picture alone, as large as the window, for a projector (key p). Esc leaves, the arrow keys "
    "still work, and a link copied meanwhile opens the same way.",
    "Model drawing": "The model as a drawing, with its real layers, heads and sizes, this page's place in it, and "
    "this sentence's numbers. Key g opens it, Esc closes it.",
    # A lesson, which docks on any page
    "Answer": "Checks your answer against the model's own run, then uncovers the picture.",
    "Skip and show": "Shows the right answer without yours. Lessons count skipped questions.",
    "Hint": "First a nudge, then a suggestion, then the place itself. Lessons and classes count hints.",
    "Own window": "Opens the lesson in a second window, for a second screen. Answers and clicks count in both. Close "
    "it, and the lesson is back beside the picture.",
    "Bring back": "Closes the other window and shows the lesson beside the picture again, at the same step.",
    "Ask the room": "Asks a class one question about the picture on this page. Students answer on their phones, with "
    "a code that you show them.",
    "Start a class": "Takes this lesson with a class: students join with a code and see each step when you open it.",
    # The status bar, and the welcome
    "device": "Where the model runs (cpu, cuda or mps) and in which number format: float32 has about 7 digits.",
    "parameters": "How many learned numbers the model has, in millions.",
    "layers": "How many layers the encoder and the decoder have, as 3+3; each has its own attention.",
    "heads": "How many attention heads each site has. Each makes its own map.",
    "d_k": "The size of one head's queries and keys. Here it is d_model divided by the number of heads.",
    "tokens": "How many pieces the source was cut into, and how many the target has. <bos:…> and <eos> count too.",
    "forward": "How long the one pass took that made all pictures here, once the target was known.",
    "decoding": "How long the model took to write its translation, before that pass. Where it can, it first writes a "
    "draft with 8-bit weights; the pass then checks each token and corrects the wrong ones.",
    "weights": "An id of the model's parameters. It changes whenever they change, and links contain it.",
    "three kinds of attention": "The encoder's self-attention, the decoder's self-attention, and the decoder's "
    "cross-attention to the source.",
    "two kinds of attention": "The two kinds that the Heads page has buttons for.",
    "attention map": "A head's weights on one sentence: a row for each query, a column for each key; a row sums to 1.",
}
