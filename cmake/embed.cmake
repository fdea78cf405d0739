# SPDX-License-Identifier: Apache-2.0
cmake_policy(VERSION 3.20)
# Writes OUTPUT: each kernel file as a C string ty_text_NAME, with #line so that a compiler's message
# names our file and line. Includes among them are dropped: the texts are put together in order.
#   cmake -DOUTPUT=… -DFILES=a;b -P embed.cmake
set(text "/* Made by cmake/embed.cmake . */\n#include \"kernel_texts.h\"\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\.cl$" "" stem "${name}")
  string(REPLACE "." "_" stem "${stem}")
  file(READ "${file}" content HEX)
  string(REGEX REPLACE ".*/src/" "src/" shown "${file}")
  set(head "#line 1 \"${shown}\"\n")
  string(HEX "${head}" head)
  set(content "${head}${content}")
  # '#include "…' at the start of a line becomes '//nclude "…', which keeps the line count.
  string(REPLACE "0a23696e636c756465202" "0a2f2f6e636c756465202" content "${content}")
  # The last line, the licence, is no part of the text.
  string(HEX "/* SPDX-License-Identifier: Apache-2.0 */\n" licence)
  string(REGEX REPLACE "${licence}$" "" content "${content}")
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," content "${content}")
  string(APPEND text "const char ty_text_${stem}[] = {${content}0};\n")
endforeach()
file(WRITE "${OUTPUT}.new" "${text}")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
