package dev.isola.provider.memory;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

/**
 * Writes the sandbox's name into every error that does not have one: what throws them inside does
 * not know it.
 */
final class SandboxNamed {
  private SandboxNamed() {}

  static <T> T call(SandboxId id, Supplier<T> action) {
    try {
      return action.get();
    } catch (SandboxException e) {
      throw named(id, e);
    }
  }

  /** Returns {@code target} with every call of {@code type} wrapped. */
  static <T> T around(Class<T> type, T target, SandboxId id) {
    Object wrapped =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(target, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause() instanceof SandboxException known
                    ? named(id, known)
                    : e.getCause();
              }
            });
    return type.cast(wrapped);
  }

  private static SandboxException named(SandboxId id, SandboxException e) {
    return e.sandbox().isPresent() ? e : e.fault().sandbox(id).exception(e);
  }
}
