package dev.isola.codec.json;

/** Thrown for a text that is not JSON, or not what was asked for. */
public final class MalformedJson extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int line;
  private final int column;

  MalformedJson(String what) {
    this(what, 0, 0);
  }

  MalformedJson(String what, int line, int column) {
    super(what);
    this.line = line;
    this.column = column;
  }

  /** Returns where reading stopped, as {@code : line L, column C}; empty where that is unknown. */
  public String place() {
    return line < 1 ? "" : ": line " + line + ", column " + column;
  }
}
