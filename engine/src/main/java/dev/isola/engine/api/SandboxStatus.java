package dev.isola.engine.api;

import dev.isola.spi.capability.UsageReporting;
import java.util.List;
import java.util.Optional;

/**
 * The condition of a sandbox at one moment.
 *
 * @param reason why it is not healthy
 * @param usage what its provider measured; empty if it is not running or the provider does not
 *     measure
 * @param cpu empty if there is no usage
 * @param containerId the id of its container at a container engine; empty if it has none
 * @param errors the latest failures since the server started, oldest first
 */
public record SandboxStatus(
    SandboxView view,
    SandboxHealth health,
    Optional<String> reason,
    Optional<UsageReporting.Usage> usage,
    Optional<CpuLoad> cpu,
    Optional<String> containerId,
    List<RecentError> errors) {
  public SandboxStatus {
    errors = List.copyOf(errors);
  }
}
