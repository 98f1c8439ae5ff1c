package dev.isola.app.terminal;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.TerminalSize;

/** The user's terminal in raw mode. Restored on close and when the process is terminated. */
public final class RawTerminal implements AutoCloseable {
  private static final TerminalSize DEFAULT_SIZE = new TerminalSize(80, 24);

  private final NativeTerminal terminal;
  private final Thread hook;

  private RawTerminal(NativeTerminal terminal) {
    this.terminal = terminal;
    this.hook = new Thread(terminal::restore, "isola-terminal");
  }

  /**
   * Opens the terminal on standard input. Its mode does not change until {@link #enterRawMode()}.
   */
  public static RawTerminal open() {
    NativeTerminal terminal = new NativeTerminal(0);
    if (!terminal.save()) {
      throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "stdin is not a terminal", "omit --tty")
          .exception();
    }
    RawTerminal opened = new RawTerminal(terminal);
    Runtime.getRuntime().addShutdownHook(opened.hook);
    return opened;
  }

  public TerminalSize size() {
    return terminal.size().orElse(DEFAULT_SIZE);
  }

  /** Calls {@code action} whenever the window size changes. */
  public void onResize(Runnable action) {
    WindowSignal.handle(action);
  }

  public void enterRawMode() {
    terminal.makeRaw();
  }

  @Override
  public void close() {
    WindowSignal.handle(() -> {});
    terminal.restore();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is already shutting down.
    }
  }
}
