package dev.isola.host.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/** Extended attributes of open files; Java supports only those in the user namespace. */
final class NativeAttributes {
  private static final int MAX_ATTRIBUTE_SIZE = 65536;

  private static final MethodHandle FSETXATTR =
      NativeCall.handle("fsetxattr", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle FGETXATTR =
      NativeCall.handle("fgetxattr", JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle FLISTXATTR =
      NativeCall.handle("flistxattr", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);

  private NativeAttributes() {}

  static void set(int descriptor, String name, byte[] value) throws IOException {
    NativeCall.of(
        "setxattr",
        call -> {
          MemorySegment bytes = call.allocate(Math.max(1, value.length));
          MemorySegment.copy(value, 0, bytes, JAVA_BYTE, 0, value.length);
          return call.checked(
              (int)
                  FSETXATTR.invokeExact(
                      call.state(), descriptor, call.text(name), bytes, (long) value.length, 0));
        });
  }

  /** Returns the names of a file's extended attributes; empty if they are not supported. */
  static List<String> names(int descriptor) throws IOException {
    return NativeCall.of(
        "listxattr",
        call -> {
          MemorySegment to = call.allocate(MAX_ATTRIBUTE_SIZE);
          long length =
              (long)
                  FLISTXATTR.invokeExact(call.state(), descriptor, to, (long) MAX_ATTRIBUTE_SIZE);
          if (length < 0 && call.errno() == NativeException.ENOTSUP) {
            return List.<String>of();
          }
          String names = NativeCall.text(to, call.checked(length));
          return names.isEmpty() ? List.of() : List.of(names.split("\0"));
        });
  }

  static Optional<byte[]> get(int descriptor, String name) throws IOException {
    return NativeCall.of(
        "getxattr",
        call -> {
          MemorySegment to = call.allocate(MAX_ATTRIBUTE_SIZE);
          long length =
              (long)
                  FGETXATTR.invokeExact(
                      call.state(), descriptor, call.text(name), to, (long) MAX_ATTRIBUTE_SIZE);
          if (length < 0 && call.errno() == NativeException.ENODATA) {
            return Optional.<byte[]>empty();
          }
          return Optional.of(to.asSlice(0, call.checked(length)).toArray(JAVA_BYTE));
        });
  }
}
