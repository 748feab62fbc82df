"""The terms of what stands around every page: the top bar, the status bar and the welcome."""

FRAME: dict[str, str] = {
    # The top bar
    "Model": "Which model runs: a translator that comes with attnviz, or a checkpoint of the Hugging Face kind.",
    "Source sentence": "What the model reads and translates. Enter runs the model.",
    "Source text": "What the encoder reads. Enter runs the model.",
    "Sentence": "What the model reads. Enter runs it.",
    "Second sentence": "A sentence that is read together with the first one, as one of a pair. It may stay empty.",
    "Prompt": "What the model reads first and then continues. Enter runs it.",
    "Tokens to write": "How many tokens the model adds to the prompt. 0: only the prompt is read.",
    "To": "The language that the model translates into.",
    "Target": "What the decoder reads behind its start token. Left empty, it is what the model writes itself; a text "
    "that you type is read as if the model had written it.",
    "About this model": "What is known of this model: layers, heads, positions, vocabulary, size, licence.",
    "Run": "Runs the model. Enter in a sentence does the same.",
    "Embed": "Copies the code that shows this picture in a page of your own. Another site's page shows it only where "
    "this instance allows it, by frame-ancestors in its Content-Security-Policy.",
    "Add to lesson": "Adds this picture, with all that it depends on, as a step to the draft of a lesson. Your browser "
    "keeps it, and the page Lessons is where its texts and questions are written.",
    "Present": "The picture alone, as large as the window, for a projector: the key p. Esc leaves, arrows still walk, "
    "and a link that is copied meanwhile opens so.",
    "Model drawing": "The model as a drawing, from its real layers, heads and sizes: where this page is in it, and "
    "this sentence's numbers on their way. The key g opens it, Esc closes it.",
    # A lesson, which docks on any page
    "Answer": "Marks your answer; what is right is computed from the model's own run. What was covered is shown then.",
    "Skip and show": "Shows what is right without an answer of yours. Lessons count what is skipped.",
    "Hint": "A nudge, then a suggestion, then a light on the place. Lessons and classes count hints.",
    "Own window": "The lesson in a window of its own, for a second screen: what is answered there, or clicked on the "
    "picture here, is known in both. Close it, and the lesson is back beside the picture.",
    "Bring back": "Closes the other window: the lesson is beside the picture again, as far as it was.",
    "Ask the room": "One question about the picture on this page, for a class: students answer it on their phones, "
    "with a code that you show them.",
    "Start a class": "This lesson together: students join with a code, and see each step when you open it.",
    # The status bar, and the welcome
    "device": "Where the model runs (cpu, cuda or mps) and in which numbers it computes: float32 has about 7 digits.",
    "parameters": "How many learned numbers the model has, in millions.",
    "layers": "How many layers the encoder and the decoder have, as 3+3; each has its own attention.",
    "heads": "How many attention maps each site makes side by side.",
    "d_k": "The size of one head's queries and keys: here d_model divided by the number of heads.",
    "tokens": "How many pieces the source was cut into, and how many the target has. <bos:…> and <eos> count too.",
    "forward": "How long the one pass took that every picture here is made from, once the target was known.",
    "decoding": "How long the model took to write its translation token by token, before that pass. Where it can, it "
    "writes a draft with weights of 8 bits; the pass then checks each token, and what is wrong is written again.",
    "weights": "An id of the model's parameters: it changes whenever they do, and links carry it.",
    "three kinds of attention": "The encoder's self-attention, the decoder's self-attention, and the decoder's "
    "cross-attention to the source.",
    "two kinds of attention": "The two kinds that the Heads page has buttons for.",
    "attention map": "A head's weights on one sentence: a row for each query, a column for each key; a row sums to 1.",
}
