package dev.isola.app.terminal;

import java.lang.reflect.Proxy;

/**
 * Handles SIGWINCH with {@code sun.misc.Signal}, the only API for it. Called by reflection, because
 * javac warns about the class. If it is missing, resizing has no effect.
 */
final class WindowSignal {
  private WindowSignal() {}

  static void handle(Runnable action) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object listener =
          Proxy.newProxyInstance(
              WindowSignal.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, args) -> {
                if (method.getName().equals("handle")) {
                  action.run();
                }
                return null;
              });
      Object window = signal.getConstructor(String.class).newInstance("WINCH");
      signal.getMethod("handle", signal, handler).invoke(null, window, listener);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      // Resizing is not available.
    }
  }
}
