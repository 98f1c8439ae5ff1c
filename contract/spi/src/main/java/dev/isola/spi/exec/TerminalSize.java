package dev.isola.spi.exec;

/** The window size of a terminal. */
public record TerminalSize(int columns, int rows) {
  public TerminalSize {
    if (columns < 1 || columns > 65_535 || rows < 1 || rows > 65_535) {
      throw new IllegalArgumentException(
          "a terminal has 1 to 65535 columns and rows: " + columns + "x" + rows);
    }
  }
}
