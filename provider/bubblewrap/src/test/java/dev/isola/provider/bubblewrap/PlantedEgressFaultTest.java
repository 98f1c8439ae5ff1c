package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.Relay;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Positive control of the kit for network mode filtered: it detects each of these faults. */
@Tag("all")
class PlantedEgressFaultTest {
  @TempDir Path data;

  /** A fault, and the check that must detect it. */
  enum Fault {
    NAME_LOST("connectionArrivesWithNameAndPort"),
    ADDRESS_BECOMES_A_NAME("literalAddressArrivesAsAnAddress"),
    RELAY_NEVER_CLOSES("nothingIsReachedWithoutARelay"),
    CLOSES_INSTEAD_OF_RESETTING("connectionIsResetUnlessItsOutputEnded"),
    FIRST_RELAY_STAYS("anotherRelayReplacesTheFirst"),
    BYTES_CHANGED("largeTransfersAreIntact"),
    CERTIFICATE_DROPPED("programsAreToldToTrustTheCertificate"),
    EGRESS_WITHOUT_THE_MODE("onlyAFilteredSandboxHasEgress");

    private final String check;

    Fault(String check) {
      this.check = check;
    }
  }

  @ParameterizedTest
  @EnumSource
  void kitDetectsTheFault(Fault fault) {
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new FaultyFactory(fault),
            new ProviderConfig(Map.of()),
            new InstanceId(SandboxId.random(new SecureRandom()).value()),
            data);
    try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
      CheckResult result =
          ConformanceKit.checks("Egress").stream()
              .filter(check -> check.id().equals("Egress." + fault.check))
              .map(runner::run)
              .findFirst()
              .orElseThrow();
      Assumptions.assumeTrue(
          result.outcome() != Outcome.NOT_RUN, () -> "NOT RUN: " + result.reason());
      assertThat(result.outcome()).as(result.reason()).isEqualTo(Outcome.FAILED);
    }
  }

  /** Returns an instance of an interface that handles some methods and forwards the others. */
  private static <T> T proxy(Class<T> type, T real, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              Object handled = handler.invoke(self, method, arguments);
              return handled == null ? call(real, method, arguments) : handled;
            }));
  }

  private static Object call(Object real, Method method, Object @Nullable [] arguments)
      throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }

  private record FaultyFactory(Fault fault) implements ProviderFactory {
    private static final ProviderFactory BUBBLEWRAP = new BubblewrapProviderFactory();

    @Override
    public String name() {
      return BUBBLEWRAP.name();
    }

    @Override
    public ProviderProfile profile() {
      return BUBBLEWRAP.profile();
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      Provider real = BUBBLEWRAP.create(config, context);
      return proxy(
          Provider.class,
          real,
          (_, method, arguments) ->
              method.getName().equals("create")
                  ? sandbox((Sandbox) call(real, method, arguments))
                  : null);
    }

    private Sandbox sandbox(Sandbox real) {
      Optional<EgressAccess> access =
          fault == Fault.EGRESS_WITHOUT_THE_MODE
              ? Optional.of((_, _, _) -> new RetainedRelay(Optional.empty()))
              : real.egress().map(egress -> new FaultyEgress(fault, egress));
      return proxy(
          Sandbox.class, real, (_, method, _) -> method.getName().equals("egress") ? access : null);
    }
  }

  private static final class FaultyEgress implements EgressAccess {
    private final Fault fault;
    private final EgressAccess real;
    private boolean opened;

    FaultyEgress(Fault fault, EgressAccess real) {
      this.fault = fault;
      this.real = real;
    }

    @Override
    public Relay open(
        String certificate, Set<Integer> ports, Consumer<OutboundConnection> handler) {
      if (fault == Fault.FIRST_RELAY_STAYS && opened) {
        return new RetainedRelay(Optional.empty());
      }
      opened = true;
      Relay relay =
          real.open(
              fault == Fault.CERTIFICATE_DROPPED ? "" : certificate,
              ports,
              connection -> {
                handler.accept(new FaultyConnection(fault, connection));
                if (fault == Fault.CLOSES_INSTEAD_OF_RESETTING) {
                  connection.shutdownOutput();
                }
              });
      return fault == Fault.RELAY_NEVER_CLOSES ? new RetainedRelay(Optional.of(relay)) : relay;
    }
  }

  /** A relay that is not closed. */
  private record RetainedRelay(Optional<Relay> real) implements Relay {
    @Override
    public boolean servesEveryPort() {
      return true;
    }

    @Override
    public void setPorts(Set<Integer> ports) {
      real.ifPresent(relay -> relay.setPorts(ports));
    }

    @Override
    public void close() {
      // The planted fault.
    }
  }

  private record FaultyConnection(Fault fault, OutboundConnection real)
      implements OutboundConnection {
    @Override
    public String host() {
      return switch (fault) {
        case NAME_LOST -> "198.18.0.2";
        case ADDRESS_BECOMES_A_NAME -> "a.example";
        default -> real.host();
      };
    }

    @Override
    public int port() {
      return real.port();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      int from = target.position();
      int count = real.read(target);
      if (fault == Fault.BYTES_CHANGED && count > 0) {
        target.put(from, (byte) (target.get(from) ^ 1));
      }
      return count;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      return real.write(source);
    }

    @Override
    public void shutdownOutput() {
      real.shutdownOutput();
    }

    @Override
    public boolean isOpen() {
      return real.isOpen();
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }
}
