package dev.isola.link;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;

/**
 * A sandbox that is held while its runtime saves it: its commands are frozen and its agent is not
 * connected. Calls that come in meanwhile wait. If the server dies, the agent continues the
 * commands when the timeout has passed; in a virtual machine, when a server releases them.
 */
public final class SandboxHold implements AutoCloseable {
  private final AgentClient client;
  private final AgentEndpoint endpoint;
  private boolean released;

  private SandboxHold(AgentClient client, AgentEndpoint endpoint) {
    this.client = client;
    this.endpoint = endpoint;
  }

  static SandboxHold begin(AgentClient client, AgentEndpoint endpoint, Duration timeout) {
    SandboxHold hold = new SandboxHold(client, endpoint);
    AgentConnection connection = client.beginHold(timeout);
    try {
      endpoint.suspend();
      WireFieldsBuilder request =
          new WireFieldsBuilder(AgentOperation.HOLD).add(FieldTag.TIMEOUT_MS, timeout.toMillis());
      connection.expectHangUp();
      connection.request(AgentOperation.HOLD, request, 0).awaitEnd(timeout);
      connection.awaitHangUp(timeout);
      return hold;
    } catch (IOException e) {
      hold.abort(connection);
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "sandbox " + client.id() + " cannot be held: " + e.getMessage(),
              "check the permissions of the data folder")
          .sandbox(client.id())
          .exception(e);
    } catch (RuntimeException e) {
      hold.abort(connection);
      throw e;
    }
  }

  /** It is unknown whether the agent holds the sandbox. */
  private void abort(AgentConnection connection) {
    connection.hangUp();
    try {
      release();
    } catch (SandboxException notHeld) {
      // An agent that holds it does so until the timeout has passed, or a server releases it.
    }
  }

  /**
   * Continues the commands.
   *
   * @throws SandboxException if the agent cannot be reached, or has continued them already
   */
  public KernelEvidence release() {
    released = true;
    try {
      endpoint.resume();
      return HeldAgent.release(client); // before the calls that wait
    } catch (IOException e) {
      throw CloseReason.unreachable(client.id(), String.valueOf(e.getMessage()));
    } finally {
      client.endHold();
    }
  }

  /** Continues the commands unless that was done. */
  @Override
  public void close() {
    if (!released) {
      KernelEvidence unused = release();
      assert unused != null;
    }
  }
}
