package dev.isola.app;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * Ends the process at once. {@code System.exit} waits 300 ms for any thread that is in native code,
 * and after a run there always is one: the poller of virtual threads, or a read of standard input.
 */
@SuppressWarnings("restricted")
final class NativeExit {
  private static final MethodHandle EXIT =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("_exit"),
              FunctionDescriptor.ofVoid(JAVA_INT));

  private NativeExit() {}

  /** Loads what the end needs, without ending; for training. */
  static boolean isLinked() {
    return EXIT != null;
  }

  /** Ends the process, unless it is ending already: the hooks at work then finish first. */
  static void exit(int code) {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("isola-exit"));
      EXIT.invokeExact(code);
    } catch (Throwable e) {
      System.exit(code);
    }
  }
}
