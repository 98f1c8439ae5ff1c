package dev.isola.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.PlacementFixture;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.provider.Requirements;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackTest {
  private static final CreateRequest REQUEST = CreateRequest.auto(PlacementFixture.SPEC);

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void onlyTheErrorCodeDecidesAboutFallback(ErrorCode code) {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failing(code, "it failed");
    if (code.allowsFallback()) {
      PlacementFixture.Placed placement = fixture.place(REQUEST);
      assertThat(placement.provider().name()).isEqualTo("gvisor");
      assertThat(placement.attempts()).extracting(ProviderAttempt::code).containsExactly(code);
    } else {
      assertThatThrownBy(() -> fixture.place(REQUEST)).isSameAs(fixture.get("firecracker").failure);
      assertThat(fixture.get("gvisor").created).hasValue(0);
    }
  }

  @Test
  void resultNamesTheProvider() {
    PlacementFixture.Placed placement =
        PlacementFixture.selfHosted("gvisor", "docker").place(REQUEST);
    assertThat(placement.provider().name()).isEqualTo("gvisor");
    assertThat(placement.attempts()).isEmpty();
    assertThat(placement.sandbox().id()).isEqualTo(PlacementFixture.SPEC.id());
  }

  @Test
  void earlierFailuresAreSuppressedExceptions() {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    fixture.get("gvisor").failing(ErrorCode.IMAGE_NOT_FOUND, "no such image");
    assertThatThrownBy(() -> fixture.place(REQUEST))
        .hasMessageStartingWith("no such image")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
  }

  @Test
  void undeclaredExceptionIsReportedAsABug() {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failure = new IllegalStateException("oops");
    assertThatThrownBy(() -> fixture.place(REQUEST))
        .isInstanceOf(Internal.class)
        .hasMessageContaining("provider firecracker violated its contract")
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(fixture.get("gvisor").created).hasValue(0);
  }

  @Test
  void resourceErrorsOfAllProvidersAreRetryable() {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failing(ErrorCode.RESOURCE_LIMIT, "no memory");
    fixture.get("gvisor").failing(ErrorCode.DISK_FULL, "no disk");
    assertThatThrownBy(() -> fixture.place(REQUEST)).isInstanceOf(LimitExceeded.class);
  }

  @Test
  void emptySelectionNamesTheRemedy() {
    assertThatThrownBy(() -> PlacementFixture.selfHosted().place(REQUEST))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessage(
            "no provider is eligible for this sandbox (no provider is installed); run isola doctor,"
                + " or relax the requirements");
    CreateRequest strong = REQUEST.requiring(Requirements.isolation(Isolation.VM));
    assertThatThrownBy(() -> PlacementFixture.selfHosted("gvisor", "docker").place(strong))
        .isInstanceOf(Unsupported.class)
        .hasMessageContainingAll("gvisor: isolation kernel", "docker: isolation container");
    PlacementFixture ill = PlacementFixture.selfHosted("firecracker", "docker");
    ill.get("firecracker").ill("no KVM");
    assertThatThrownBy(() -> ill.place(strong))
        .as("the error is retryable")
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("for firecracker: mend firecracker");
  }
}
