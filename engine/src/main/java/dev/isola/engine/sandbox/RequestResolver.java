package dev.isola.engine.sandbox;

import dev.isola.egress.EgressSettings;
import dev.isola.engine.api.HostAccess;
import dev.isola.engine.api.NetworkPolicy;
import dev.isola.engine.api.ReservedTags;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.egress.EgressRules;
import dev.isola.engine.secret.SecretVariables;
import dev.isola.engine.snapshot.MemorySnapshotResolver;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;

/**
 * Checks a request, and replaces its template, snapshot and volumes by what they stand for. Reads
 * the ledger and the snapshot store; changes nothing.
 *
 * @param maxDiskMb the largest disk that a sandbox may have
 */
public record RequestResolver(
    TemplateResolver templates,
    MemorySnapshotResolver snapshots,
    VolumeResolver volumes,
    HostAccess hostAccess,
    NetworkPolicy networks,
    long maxDiskMb,
    EgressRules egress,
    SecretVariables secrets) {

  /**
   * Returns the complete request.
   *
   * @param fork whether the sandbox is a fork, which does without secrets that were removed
   * @throws dev.isola.spi.error.SandboxException if the request is invalid, or not allowed
   */
  public SandboxRequest resolve(SandboxRequest request, boolean fork) {
    ReservedTags.reject(request.request().tags());
    SandboxRequest complete = snapshots.resolve(templates.resolve(request));
    SandboxSpec spec = complete.request().spec();
    hostAccess.check(spec, request.hostAccess());
    networks.check(spec);
    checkDisk(spec.limits());
    checkEgress(spec);
    if (fork) {
      secrets.checkFork(spec, request.key());
    } else {
      secrets.check(spec, request.key());
    }
    return volumes.resolve(complete);
  }

  private void checkDisk(ResourceLimits limits) {
    if (limits.diskMb() > maxDiskMb) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "limits.diskMb is " + limits.diskMb() + ", and this server allows " + maxDiskMb,
              "request a smaller disk, or the operator can raise sandbox.max_disk_mb in the"
                  + " configuration")
          .exception();
    }
  }

  /** Refuses egress settings that cannot be applied, such as an unknown preset. */
  private void checkEgress(SandboxSpec spec) {
    if (spec.network().isFiltered()) {
      EgressSettings settings = egress.settings(spec.network());
      assert settings != null;
    }
  }
}
