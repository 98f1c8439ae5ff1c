package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/** A call of the C library with its memory and errno. */
@SuppressWarnings("restricted")
final class NativeCall implements AutoCloseable {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_VALUE =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  /** The body of a call. */
  interface Body<T> {
    T run(NativeCall call) throws Throwable;
  }

  private final String name;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment state = arena.allocate(STATE);

  NativeCall(String name) {
    this.name = name;
  }

  /** Looks up a function; callers pass {@link #state} as the first argument. */
  static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
  }

  /** Looks up {@code syscall}, whose first argument is the number of the system call. */
  static MethodHandle systemCall(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow("syscall"),
        descriptor,
        ERRNO,
        Linker.Option.firstVariadicArg(1));
  }

  static <T> T of(String name, Body<T> body) throws IOException {
    try (NativeCall call = new NativeCall(name)) {
      return body.run(call);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError(name, e);
    }
  }

  MemorySegment state() {
    return state;
  }

  MemorySegment text(String bytes) {
    return arena.allocateFrom(bytes, StandardCharsets.ISO_8859_1);
  }

  static String text(MemorySegment bytes, long length) {
    return new String(bytes.asSlice(0, length).toArray(JAVA_BYTE), StandardCharsets.ISO_8859_1);
  }

  MemorySegment allocate(long bytes) {
    return arena.allocate(bytes, 8);
  }

  int errno() {
    return (int) ERRNO_VALUE.get(state, 0L);
  }

  int checked(int result) throws NativeException {
    return (int) checked((long) result);
  }

  /** Returns the result, or throws if it is negative. */
  long checked(long result) throws NativeException {
    if (result < 0) {
      throw new NativeException(name, errno());
    }
    return result;
  }

  @Override
  public void close() {
    arena.close();
  }
}
