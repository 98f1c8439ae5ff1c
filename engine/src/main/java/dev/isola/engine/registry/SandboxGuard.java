package dev.isola.engine.registry;

import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the sandboxes of a provider and the objects that they return: capabilities, files,
 * executions, connections. Their methods throw only exceptions of the contract. Methods that wait
 * for the backend and have no deadline of their own get a timeout; all others, mainly of commands
 * and files, run on the thread of the caller.
 *
 * <p>A wrapper implements the contract interfaces of the wrapped object, so a new capability needs
 * no code here.
 *
 * @param bounds timeouts of interfaces whose methods wait for the backend without a deadline; a
 *     method that creates a sandbox additionally gets twice its startup timeout
 */
record SandboxGuard(ProviderGuard guard, Map<Class<?>, Duration> bounds) {
  private static final String CONTRACT = SandboxId.class.getPackageName();

  private static final Map<Class<?>, Duration> BOUNDS =
      Map.of(
          Pausing.class, Duration.ofMinutes(5),
          Renewing.class, Duration.ofMinutes(5),
          Forking.class, Duration.ofMinutes(5),
          MemoryForking.class, Duration.ofMinutes(5),
          ForkPoint.class, Duration.ofMinutes(1),
          UsageReporting.class, Duration.ofMinutes(1));

  /**
   * The contract interfaces that a class implements. Sealed interfaces are values and not wrapped.
   */
  private static final ClassValue<Class<?>[]> INTERFACES =
      new ClassValue<>() {
        @Override
        protected Class<?>[] computeValue(Class<?> type) {
          Set<Class<?>> found = new LinkedHashSet<>();
          collect(type, found);
          return found.toArray(Class<?>[]::new);
        }
      };

  SandboxGuard(ProviderGuard guard) {
    this(guard, BOUNDS);
  }

  private static void collect(@Nullable Class<?> type, Set<Class<?>> found) {
    if (type == null) {
      return;
    }
    for (Class<?> one : type.getInterfaces()) {
      if (!one.isSealed() && one.getPackageName().startsWith(CONTRACT)) {
        found.add(one);
      }
      collect(one, found);
    }
    collect(type.getSuperclass(), found);
  }

  Sandbox wrap(Sandbox sandbox) {
    return (Sandbox) wrapped(sandbox);
  }

  Forking.ForkPoint wrap(Forking.ForkPoint point) {
    return (Forking.ForkPoint) wrapped(point);
  }

  private Object wrapped(Object value) {
    if (value instanceof Optional<?> optional) {
      return optional.map(this::wrapped);
    }
    Class<?>[] interfaces = INTERFACES.get(value.getClass());
    return interfaces.length == 0
        ? value
        : Proxy.newProxyInstance(
            Sandbox.class.getClassLoader(), interfaces, new GuardHandler(value, this));
  }

  /**
   * Closes a fork point that a call returns after its caller has given up: it holds files, or the
   * memory of a sandbox.
   */
  private static final class LateForkPoint {
    private @Nullable ForkPoint returned;
    private boolean abandoned;

    /** Passes on the result of the call. */
    synchronized @Nullable Object pass(@Nullable Object result) {
      if (result instanceof ForkPoint point) {
        returned = point;
        closeIfAbandoned();
      }
      return result;
    }

    /** Called if the caller does not get the result. */
    synchronized void abandon() {
      abandoned = true;
      closeIfAbandoned();
    }

    private void closeIfAbandoned() {
      ForkPoint point = returned;
      if (abandoned && point != null) {
        returned = null;
        Thread.ofVirtual().name("isola-late-fork-point").start(point::close);
      }
    }
  }

  /** Handles the calls of one wrapped object. */
  private record GuardHandler(Object inner, SandboxGuard wrapper) implements InvocationHandler {
    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      if (method.getDeclaringClass() == Object.class) {
        return invokeObjectMethod(proxy, method, arguments);
      }
      Duration timeout = wrapper.bounds.get(method.getDeclaringClass());
      Object result =
          timeout == null ? direct(method, arguments) : bounded(method, arguments, timeout);
      if (result != null) {
        return wrapper.wrapped(result);
      }
      if (method.getReturnType() != void.class) {
        throw wrapper.guard.contractViolation(method.getName(), "it returned null", null);
      }
      return null;
    }

    @SuppressWarnings("ReferenceEquality") // identity is intended
    private Object invokeObjectMethod(Object proxy, Method method, Object @Nullable [] arguments) {
      return switch (method.getName()) {
        case "equals" -> arguments != null && proxy == arguments[0];
        case "hashCode" -> System.identityHashCode(proxy);
        default -> inner.toString();
      };
    }

    private @Nullable Object direct(Method method, Object @Nullable [] arguments) throws Throwable {
      try {
        return method.invoke(inner, arguments);
      } catch (InvocationTargetException e) {
        Throwable thrown = e.getTargetException();
        throw isDeclared(method, thrown)
            ? thrown
            : wrapper.guard.contractViolation(method.getName(), String.valueOf(thrown), thrown);
      }
    }

    private static boolean isDeclared(Method method, Throwable thrown) {
      return thrown instanceof SandboxException
          || Arrays.stream(method.getExceptionTypes()).anyMatch(type -> type.isInstance(thrown));
    }

    private @Nullable Object bounded(Method method, Object @Nullable [] arguments, Duration bound) {
      Optional<SandboxSpec> spec =
          Stream.ofNullable(arguments)
              .flatMap(Arrays::stream)
              .filter(SandboxSpec.class::isInstance)
              .map(SandboxSpec.class::cast)
              .findFirst();
      // The outcome of a create that timed out is unknown.
      ErrorCode timeoutCode =
          spec.isPresent() ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.DEADLINE_EXCEEDED;
      Duration timeout =
          spec.map(one -> one.startupTimeout().multipliedBy(2).plus(bound)).orElse(bound);
      LateForkPoint late = new LateForkPoint();
      try {
        return wrapper
            .guard
            .<Optional<Object>>call(
                method.getName(),
                timeout,
                timeoutCode,
                () -> Optional.ofNullable(late.pass(unchecked(method, arguments))))
            .orElse(null);
      } catch (SandboxException e) {
        late.abandon();
        throw e;
      }
    }

    /** Invokes a method; the surrounding guard translates undeclared exceptions. */
    private @Nullable Object unchecked(Method method, Object @Nullable [] arguments) {
      try {
        return direct(method, arguments);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw wrapper.guard.contractViolation(method.getName(), e.toString(), e);
      }
    }
  }
}
