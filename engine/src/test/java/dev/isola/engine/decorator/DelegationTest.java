package dev.isola.engine.decorator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every method of the contract reaches the provider, those with a default included. */
class DelegationTest {
  private static final ProviderGuard GUARD = new ProviderGuard("fake");
  private static final SandboxSpec SPEC = SandboxSpec.builder(new SandboxId("box")).build();

  /** Default methods that call another method of the same object, which is delegated. */
  private static final Set<String> DERIVED =
      Set.of("readBytes", "readText", "writeText", "follow", "followToEnd");

  private final List<String> calls = new ArrayList<>();

  /** A type of the contract, and its decorator. */
  record Decorated<T>(Class<T> type, Function<T, ? extends T> decorator) {
    Object of(Object inner) {
      return decorator.apply(type.cast(inner));
    }

    @Override
    public String toString() {
      return type.getSimpleName();
    }
  }

  static Stream<Decorated<?>> decorators() {
    TimeLimits limits = TimeLimits.DEFAULT;
    Stream<Decorated<?>> objects =
        Stream.of(
            new Decorated<>(Provider.class, one -> new ProviderDecorator("fake", one)),
            new Decorated<>(
                Sandbox.class,
                one -> new SandboxDecorator(one, GUARD, limits, SandboxObserver.NONE)),
            new Decorated<>(
                Execution.class, one -> ExecutionDecorator.of(one, GUARD, SandboxObserver.NONE)),
            new Decorated<>(
                Terminal.class,
                one -> (Terminal) ExecutionDecorator.of(one, GUARD, SandboxObserver.NONE)),
            new Decorated<>(
                FileSystem.class, one -> new FilesDecorator(one, GUARD, SandboxObserver.NONE)),
            new Decorated<>(Watch.class, one -> new WatchDecorator(one, GUARD)),
            new Decorated<>(
                PortDialing.Connection.class,
                one -> new ConnectionDecorator(one, GUARD, SandboxObserver.NONE.begin())),
            new Decorated<>(
                Forking.ForkPoint.class, one -> ForkPointDecorator.of(one, GUARD, limits)),
            new Decorated<>(
                MemoryForking.MemoryForkPoint.class,
                one -> new MemoryForkPointDecorator(one, GUARD, limits)),
            new Decorated<>(
                Snapshotting.Capture.class,
                one ->
                    new SnapshottingDecorator(returning(Snapshotting.class, one), GUARD)
                        .capture(Snapshotting.CaptureRequest.of("/"))),
            new Decorated<>(EgressAccess.class, one -> new EgressDecorator(one, GUARD)),
            new Decorated<>(
                EgressAccess.Relay.class,
                one ->
                    new EgressDecorator(returning(EgressAccess.class, one), GUARD)
                        .open("", Set.of(), _ -> {})));
    return Stream.concat(objects, Capability.all().stream().map(DelegationTest::capability));
  }

  private static <C extends Capability> Decorated<C> capability(Class<C> type) {
    CapabilityDecorator capabilities =
        new CapabilityDecorator(GUARD, TimeLimits.DEFAULT, SandboxObserver.NONE);
    return new Decorated<>(type, one -> capabilities.decorate(type, one));
  }

  private static <T> T returning(Class<T> type, Object result) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> result));
  }

  @ParameterizedTest
  @MethodSource("decorators")
  void methodReachesTheProvider(Decorated<?> decorated) throws ReflectiveOperationException {
    Object inner = recording(decorated.type());
    Object outer = decorated.of(inner);
    for (Method method : decorated.type().getMethods()) {
      if (!Modifier.isStatic(method.getModifiers()) && !DERIVED.contains(method.getName())) {
        calls.clear();
        try {
          method.invoke(outer, arguments(method));
        } catch (InvocationTargetException e) {
          assertThat(e.getCause()).as(method.toString()).isInstanceOf(SandboxException.class);
        }
        assertThat(calls).as(method.toString()).contains(method.getName());
      }
    }
  }

  @Test
  void capabilityIsPresentIfTheProviderHasIt() {
    Sandbox all =
        new SandboxDecorator(
            recording(Sandbox.class), GUARD, TimeLimits.DEFAULT, SandboxObserver.NONE);
    Sandbox none =
        new SandboxDecorator(
            returning(Sandbox.class, Optional.empty()),
            GUARD,
            TimeLimits.DEFAULT,
            SandboxObserver.NONE);
    for (Class<? extends Capability> type : Capability.all()) {
      assertThat(none.as(type)).isEmpty();
      assertThat(all.as(type).orElseThrow()).isInstanceOf(type);
    }
    assertThat(none.egress()).isEmpty();
    assertThat(none.guestProtocol()).isEmpty();
  }

  /** Returns an object that records the names of its methods as they are called. */
  private <T> T recording(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (method.getDeclaringClass() == Object.class) {
                return method.getName();
              }
              calls.add(method.getName());
              return method.getName().equals("as") && arguments[0] instanceof Class<?> capability
                  ? Optional.of(recording(capability))
                  : result(method.getReturnType());
            }));
  }

  private @Nullable Object result(Class<?> type) {
    if (type == boolean.class) {
      return true;
    } else if (type == int.class) {
      return 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == Optional.class) {
      return Optional.empty();
    } else if (type == Duration.class) {
      return Duration.ZERO;
    } else if (type == List.class) {
      return List.of();
    } else if (type.isInterface() && type.getPackageName().startsWith("dev.isola")) {
      return type.isSealed() ? null : recording(type);
    }
    return null; // a violation of the contract, which comes after the call
  }

  private static Object[] arguments(Method method) {
    return Arrays.stream(method.getParameterTypes()).map(DelegationTest::argument).toArray();
  }

  private static @Nullable Object argument(Class<?> type) {
    return switch (type.getSimpleName()) {
      case "int" -> 1;
      case "long" -> 1L;
      case "boolean" -> true;
      case "SandboxSpec" -> SPEC;
      case "Command" -> Command.shell("true");
      case "DestroyOptions" -> DestroyOptions.FORCE;
      case "WriteOptions" -> WriteOptions.DEFAULT;
      case "Secret" -> Secret.of("secret");
      case "Class" -> Volumes.class;
      case "Set" -> Set.of();
      case "List" -> List.of();
      case "Map" -> Map.of();
      case "Consumer" -> (Consumer<Object>) _ -> {};
      default -> null;
    };
  }
}
