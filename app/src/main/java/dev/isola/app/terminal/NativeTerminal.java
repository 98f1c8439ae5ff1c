package dev.isola.app.terminal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.isola.spi.exec.TerminalSize;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Calls the C library's terminal functions, which the JDK does not expose. JLine does, but queries
 * the terminal's features, and the responses would reach the command as input.
 */
@SuppressWarnings("restricted")
public final class NativeTerminal {
  private static final int TCSADRAIN = 1;

  /** The fourth word of struct termios holds the local modes; this bit of it is ECHO. */
  private static final long LOCAL_MODES = 3;

  private static final int ECHO = 0x8;

  /** Value on Linux, identical on x86_64 and aarch64. */
  private static final long TIOCGWINSZ = 0x5413;

  /** struct termios has 60 bytes on Linux; the rest is a reserve. */
  private static final long TERMIOS_BYTES = 256;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle TCGETATTR =
      function("tcgetattr", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle TCSETATTR =
      function("tcsetattr", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle CFMAKERAW =
      function("cfmakeraw", FunctionDescriptor.ofVoid(ADDRESS));
  private static final MethodHandle IOCTL =
      function(
          "ioctl",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS),
          Linker.Option.firstVariadicArg(2));

  private final int descriptor;
  private final MemorySegment saved = Arena.global().allocate(TERMIOS_BYTES);

  public NativeTerminal(int descriptor) {
    this.descriptor = descriptor;
  }

  private static MethodHandle function(
      String name, FunctionDescriptor type, Linker.Option... options) {
    MemorySegment address = LINKER.defaultLookup().findOrThrow(name);
    return LINKER.downcallHandle(address, type, options);
  }

  /** Saves the settings. Returns false if the descriptor is not a terminal. */
  public boolean save() {
    try {
      return (int) TCGETATTR.invokeExact(descriptor, saved) == 0;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Restores the saved settings after pending output is written. */
  public void restore() {
    set(saved);
  }

  /**
   * Enters raw mode: no echo, no line buffering, no signals from keys, no character translation.
   */
  void makeRaw() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = arena.allocate(TERMIOS_BYTES).copyFrom(saved);
      CFMAKERAW.invokeExact(raw);
      set(raw);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Disables echo and keeps line buffering. */
  public void disableEcho() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment hidden = arena.allocate(TERMIOS_BYTES, Integer.BYTES).copyFrom(saved);
      hidden.setAtIndex(JAVA_INT, LOCAL_MODES, hidden.getAtIndex(JAVA_INT, LOCAL_MODES) & ~ECHO);
      set(hidden);
    }
  }

  private void set(MemorySegment settings) {
    try {
      // Fails if the terminal is gone, which is harmless.
      int ignored = (int) TCSETATTR.invokeExact(descriptor, TCSADRAIN, settings);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the window size, or empty if the terminal does not report it. */
  public Optional<TerminalSize> size() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment window = arena.allocate(JAVA_SHORT, 4);
      if ((int) IOCTL.invokeExact(descriptor, TIOCGWINSZ, window) != 0) {
        return Optional.empty();
      }
      int rows = Short.toUnsignedInt(window.getAtIndex(JAVA_SHORT, 0));
      int columns = Short.toUnsignedInt(window.getAtIndex(JAVA_SHORT, 1));
      return rows == 0 || columns == 0
          ? Optional.empty()
          : Optional.of(new TerminalSize(columns, rows));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static IllegalStateException unexpected(Throwable e) {
    return new IllegalStateException("a C library call failed", e);
  }
}
