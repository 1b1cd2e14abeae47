# cmake -DFROM=file -DTO=file.c -DNAME=symbol -P embed.cmake: the bytes of a file as an array NAME_text and their number NAME_text_length.
file(READ ${FROM} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "extern const unsigned char ${NAME}_text[];\nextern const unsigned long ${NAME}_text_length;\nconst unsigned char ${NAME}_text[] = {\n${bytes}};\nconst unsigned long ${NAME}_text_length = ${length};\n")
