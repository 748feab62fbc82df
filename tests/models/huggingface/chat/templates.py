"""The turns of six families' chat templates, written after the forms that their authors publish; tools are left out.

Each has what makes its family's form hard: Llama 3 and Gemma begin with <bos> and trim, Gemma calls the assistant
"model" and refuses a system turn, Qwen 3 cuts the thinking out of earlier answers, Mistral puts the system's text into
the last user turn, SmolLM2 adds a system turn of its own, Phi ends with a newline.
"""

CHATML = (  # how most families mark turns
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TEMPLATES = {
    "Llama 3": (
        "{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n'"
        " + message.content | trim + '<|eot_id|>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
    ),
    "Qwen 3": (
        "{%- set ns = namespace(last=-1) %}{%- for m in messages %}{%- if m.role == 'user' %}"
        "{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}{%- for m in messages %}"
        "{%- set content = m.content %}"
        "{%- if m.role == 'assistant' and '</think>' in content and loop.index0 < ns.last %}"
        "{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}"
        "{{- '<|im_start|>' + m.role + '\n' + content + '<|im_end|>\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
    ),
    "Gemma": (
        "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{% for m in messages %}{% set role = 'model' if m.role == 'assistant' else m.role %}"
        "{{ '<start_of_turn>' + role + '\n' + m.content | trim + '<end_of_turn>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
    ),
    "Mistral": (
        "{%- if messages[0].role == 'system' %}{%- set told = messages[0].content + '\n\n' %}"
        "{%- set spoken = messages[1:] %}{%- else %}{%- set told = '' %}{%- set spoken = messages %}{%- endif %}"
        "{{- bos_token }}{%- for m in spoken %}{%- if m.role == 'user' %}"
        "{{- '[INST] ' + (told if loop.last else '') + m.content + ' [/INST]' }}"
        "{%- else %}{{- ' ' + m.content | trim + eos_token }}{%- endif %}{%- endfor %}"
    ),
    "SmolLM2": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nYou are a helpful assistant<|im_end|>\n' }}{% endif %}"
        "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "Phi": (
        "{% for m in messages %}{{ '<|' + m.role + '|>\n' + m.content + '<|end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
    ),
}
