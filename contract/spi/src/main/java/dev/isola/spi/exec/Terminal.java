package dev.isola.spi.exec;

/**
 * An execution on a pseudo-terminal. Input is what is typed (control characters mean what they mean
 * on a terminal, end of file is {@code 0x04}); output arrives on {@link Channel#TERMINAL}.
 */
public interface Terminal extends Execution {
  /**
   * Changes the window size; the foreground process gets {@code SIGWINCH}. Does nothing when it has
   * ended.
   */
  void resize(TerminalSize size);
}
