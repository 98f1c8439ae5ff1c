package dev.isola.app;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.util.EnumSet;
import org.jline.terminal.Attributes;
import org.jline.terminal.Attributes.ControlChar;
import org.jline.terminal.Attributes.InputFlag;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Attributes.OutputFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * The caller's terminal, passing every key on while it is raw. Put back as it was on close, and
 * when the process is told to end. The only class that knows JLine, which only it loads.
 */
final class RawTerminal implements AutoCloseable {
  private static final TerminalSize USUAL = new TerminalSize(80, 24);

  private final Terminal terminal;
  private final Attributes before;
  private final Thread hook = new Thread(this::restore, "isola-terminal");

  private RawTerminal(Terminal terminal) {
    this.terminal = terminal;
    this.before = terminal.getAttributes();
  }

  static RawTerminal open() {
    try {
      Terminal terminal =
          TerminalBuilder.builder()
              .system(true)
              .dumb(false)
              .provider("ffm")
              // Ours are the JVM's: SIGINT and SIGTERM run the shutdown hooks.
              .nativeSignals(false)
              .build();
      RawTerminal opened = new RawTerminal(terminal);
      Runtime.getRuntime().addShutdownHook(opened.hook);
      return opened;
    } catch (IOException | IllegalStateException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the terminal cannot be used: " + e.getMessage(),
              "leave --tty out")
          .exception(e);
    }
  }

  TerminalSize size() {
    Size size = terminal.getSize();
    return size.getColumns() < 1 || size.getRows() < 1
        ? USUAL
        : new TerminalSize(size.getColumns(), size.getRows());
  }

  void onResize(Runnable action) {
    terminal.handle(Terminal.Signal.WINCH, signal -> action.run());
  }

  /** What cfmakeraw does: no echo, no lines, no signals, no translation either way. */
  void raw() {
    Attributes raw = new Attributes(before);
    raw.setInputFlags(
        EnumSet.of(
            InputFlag.IGNBRK,
            InputFlag.BRKINT,
            InputFlag.PARMRK,
            InputFlag.ISTRIP,
            InputFlag.INLCR,
            InputFlag.IGNCR,
            InputFlag.ICRNL,
            InputFlag.IXON),
        false);
    raw.setOutputFlag(OutputFlag.OPOST, false);
    raw.setLocalFlags(
        EnumSet.of(
            LocalFlag.ECHO, LocalFlag.ECHONL, LocalFlag.ICANON, LocalFlag.ISIG, LocalFlag.IEXTEN),
        false);
    raw.setControlChar(ControlChar.VMIN, 1);
    raw.setControlChar(ControlChar.VTIME, 0);
    terminal.setAttributes(raw);
  }

  private void restore() {
    terminal.setAttributes(before);
  }

  @Override
  public void close() {
    restore();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending already.
    }
    // The JLine terminal itself is left open: closing it would close stdin and stdout, on which an
    // error may still have to be written.
  }
}
