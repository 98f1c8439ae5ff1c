package dev.isola.app.terminal;

import java.lang.reflect.Proxy;

/**
 * Listens for SIGWINCH. Only {@code sun.misc.Signal} can; it is called by reflection because javac
 * warns of its name, and where it is missing the window keeps its size.
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
      // No resizing then.
    }
  }
}
