package dev.isola.testing.provider;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Replaces one method of an SPI object; all other calls are delegated. */
final class Interception {
  /** The replacement of the method. */
  interface Replacement {
    @Nullable Object call(Object[] arguments) throws Throwable;
  }

  private static final Object[] NONE = {};

  private Interception() {}

  /**
   * Returns {@code target} with {@code replacement} in place of its method {@code name}.
   *
   * @throws IllegalArgumentException if {@code type} has no such method
   */
  static <T> T of(Class<T> type, T target, String name, Replacement replacement) {
    if (Arrays.stream(type.getMethods()).noneMatch(method -> method.getName().equals(name))) {
      throw new IllegalArgumentException(type + " has no method " + name);
    }
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                method.getName().equals(name)
                    ? replacement.call(arguments == null ? NONE : arguments)
                    : invoke(proxy, target, method, arguments)));
  }

  /** Calls default methods that the target does not override on the proxy. */
  private static @Nullable Object invoke(
      Object proxy, Object target, Method method, Object @Nullable [] arguments) throws Throwable {
    Method own = target.getClass().getMethod(method.getName(), method.getParameterTypes());
    if (own.isDefault()) {
      return InvocationHandler.invokeDefault(proxy, own, arguments);
    }
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
