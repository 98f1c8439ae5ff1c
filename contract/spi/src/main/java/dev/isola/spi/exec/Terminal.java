package dev.isola.spi.exec;

/**
 * An execution on a pseudo-terminal. Control characters in its input have their usual effect, and
 * {@code 0x04} is end of file. Output arrives on {@link Channel#TERMINAL}.
 */
public interface Terminal extends Execution {
  /**
   * Changes the window size; the foreground process group receives {@code SIGWINCH}. Does nothing
   * if the command has ended.
   */
  void resize(TerminalSize size);
}
