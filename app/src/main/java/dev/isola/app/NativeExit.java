package dev.isola.app;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * Exits the process immediately. {@code System.exit} waits 300 ms for threads in native code, and
 * after a run there always is one: the poller of virtual threads, or a read of standard input.
 */
@SuppressWarnings("restricted")
final class NativeExit {
  private static final MethodHandle EXIT =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("_exit"),
              FunctionDescriptor.ofVoid(JAVA_INT));

  private NativeExit() {}

  /** Links the native call without making it, so that an AOT training run loads it. */
  static boolean isLinked() {
    return EXIT != null;
  }

  /** Exits the process. If it is already shutting down, lets the shutdown hooks finish first. */
  static void exit(int code) {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("isola-exit"));
      EXIT.invokeExact(code);
    } catch (Throwable e) {
      System.exit(code);
    }
  }
}
