package dev.isola.engine.api.egress;

import dev.isola.egress.EgressSettings;
import dev.isola.engine.api.EgressReport;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.secret.SecretVariables;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.Network;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Shows and changes the egress of sandboxes for clients. A change is recorded before it applies.
 */
public final class EgressOperations {
  private final EgressService service;
  private final SandboxRecorder recorder;
  private final SecretVariables secrets;

  public EgressOperations(
      EgressService service, SandboxRecorder recorder, SecretVariables secrets) {
    this.service = service;
    this.recorder = recorder;
    this.secrets = secrets;
  }

  /**
   * Returns the rules and the traffic of a sandbox.
   *
   * @throws dev.isola.spi.error.Conflict if its network is not filtered, or it does not run
   */
  public EgressReport report(SandboxId id) {
    SandboxEntry entry = recorder.require(id);
    requireFiltered(entry);
    return service.report(id).orElseThrow(() -> notRunning(entry));
  }

  /** Returns the rules of each preset, by name. */
  public Map<String, List<EgressRule>> presets() {
    return service.rules().presets();
  }

  /**
   * Replaces the egress settings of a sandbox, and its allowed and blocked domains. Its secrets
   * stay: their variables were set when it was created.
   *
   * @param closeExisting whether connections end that the new settings would not allow
   * @param key the name of the API key of the client
   * @throws dev.isola.spi.error.NotFound if the settings name a secret that the key may not use
   */
  public EgressReport replace(
      SandboxId id, Egress egress, boolean closeExisting, Optional<String> key) {
    secrets.check(egress, key);
    return change(
        id,
        network -> new Network(network.mode(), List.of(), List.of(), network.exposePorts(), egress),
        closeExisting);
  }

  private EgressReport change(SandboxId id, UnaryOperator<Network> change, boolean closeExisting) {
    SandboxEntry stored = recorder.modify(id, entry -> changed(entry, change));
    Network network = network(stored);
    service.replace(id, network, service.rules().settings(network), closeExisting);
    return report(id);
  }

  /**
   * Adds a rule in front of the others; one with the same destination and ports is replaced.
   *
   * @param key the name of the API key of the client
   * @throws dev.isola.spi.error.NotFound if the rule names a secret that the key may not use
   */
  public EgressReport add(SandboxId id, EgressRule rule, Optional<String> key) {
    secrets.check(Egress.NONE.withRules(List.of(rule)), key);
    return change(
        id,
        network -> {
          Egress egress = network.egress();
          List<EgressRule> rules = new ArrayList<>(egress.rules());
          rules.removeIf(
              one ->
                  one.destination().equals(rule.destination()) && one.ports().equals(rule.ports()));
          rules.addFirst(rule);
          return network.withEgress(egress.withRules(rules));
        },
        false);
  }

  private SandboxEntry changed(SandboxEntry entry, UnaryOperator<Network> change) {
    requireFiltered(entry);
    Network network = change.apply(network(entry));
    EgressSettings settings = service.rules().settings(network); // refuses unknown presets
    assert settings != null;
    return entry.toBuilder()
        .spec(SpecCodec.withNetwork(entry.spec(), entry.id(), network), entry.specHash())
        .build();
  }

  private static Network network(SandboxEntry entry) {
    return SpecCodec.decode(entry.spec(), entry.id()).spec().network();
  }

  private static void requireFiltered(SandboxEntry entry) {
    if (!network(entry).isFiltered()) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + entry.id() + " has no filtered network, so it has no egress rules",
              "create it with network mode filtered")
          .sandbox(entry.id())
          .exception();
    }
  }

  private static SandboxException notRunning(SandboxEntry entry) {
    boolean gone = entry.state() == SandboxState.DESTROYED;
    return Fault.of(
            gone ? ErrorCode.SANDBOX_DESTROYED : ErrorCode.ILLEGAL_STATE,
            "sandbox " + entry.id() + " is not running, so its connections are not carried",
            gone ? "create a new sandbox" : "resume it")
        .sandbox(entry.id())
        .exception();
  }
}
