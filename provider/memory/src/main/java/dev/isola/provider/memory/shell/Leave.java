package dev.isola.provider.memory.shell;

/** Unwinds the shell: out of a loop, a function, or all of it. */
final class Leave extends RuntimeException {
  private static final long serialVersionUID = 1L;

  enum Kind {
    BREAK,
    CONTINUE,
    RETURN,
    EXIT
  }

  private final Kind kind;
  private final int code;

  Leave(Kind kind, int code) {
    super(kind.name(), null, false, false);
    this.kind = kind;
    this.code = code;
  }

  Kind kind() {
    return kind;
  }

  int code() {
    return code;
  }
}
