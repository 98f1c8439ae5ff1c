package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.security.SecureRandom;
import java.time.Instant;

/** The agent of a sandbox that was restored from a saved one, in which commands are frozen. */
public final class HeldAgent {
  private static final SecureRandom RANDOM = new SecureRandom();

  private HeldAgent() {}

  /**
   * Gives the agent the identity of another sandbox. It then dials again and proves the secret of
   * the boot record; commands stay frozen until {@link AgentSandbox#release}.
   *
   * @param endpoint where the agent dials; closed afterwards
   * @param saved the secret of the sandbox that was saved
   */
  public static KernelEvidence identify(
      SandboxId id, AgentEndpoint endpoint, Secret saved, BootRecord record) {
    byte[] seed = new byte[Wire.NONCE_SIZE];
    RANDOM.nextBytes(seed);
    try (AgentClient client = new AgentClient(id, endpoint, saved, LinkTimeouts.DEFAULT)) {
      client.connectionDuringHold(); // takes a while, and the time must be right
      WireFieldsBuilder request =
          new WireFieldsBuilder(AgentOperation.IDENTIFY)
              .add(FieldTag.VALUE, record.fields())
              .add(FieldTag.NONCE, seed)
              .add(FieldTag.TIME_NS, Timestamps.nanos(Instant.now()));
      return call(client, AgentOperation.IDENTIFY, request);
    }
  }

  static KernelEvidence release(AgentClient client) {
    client.connectionDuringHold(); // takes a while, and the time must be right
    return call(
        client,
        AgentOperation.RELEASE,
        new WireFieldsBuilder(AgentOperation.RELEASE)
            .add(FieldTag.TIME_NS, Timestamps.nanos(Instant.now())));
  }

  private static KernelEvidence call(
      AgentClient client, AgentOperation operation, WireFieldsBuilder request) {
    LinkStream stream = client.connectionDuringHold().request(operation, request, 0);
    WireFields fields = stream.awaitEnd(client.timeouts().responseTimeout());
    try {
      return KernelEvidence.of(fields);
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(String.valueOf(e.getMessage()));
    }
  }
}
