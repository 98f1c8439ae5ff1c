package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Volume names are unique, and volumes survive a restart. */
abstract class VolumesContract extends LedgerContract {

  VolumesContract(TestDatabase database) {
    super(database);
  }

  private static VolumeEntry volume(String id, String name) {
    return new VolumeEntry(
        id, "t", name, "memory", VolumeEntry.State.CREATING, NOW, NOW.plusSeconds(1));
  }

  @Test
  void volumesAreInsertedUpdatedAndRemoved() {
    assertThat(ledger.volumes().insert(volume("b", "second"))).isTrue();
    assertThat(ledger.volumes().insert(volume("a", "first"))).isTrue();
    reopen();
    assertThat(ledger.volumes().find("a")).contains(volume("a", "first"));
    assertThat(ledger.volumes().findByName("second")).contains(volume("b", "second"));
    assertThat(ledger.volumes().all()).containsExactly(volume("a", "first"), volume("b", "second"));
    VolumeEntry changed =
        volume("a", "first")
            .withState(VolumeEntry.State.AVAILABLE, NOW.plusSeconds(2))
            .withProvider("other", NOW.plusSeconds(3));
    assertThat(ledger.volumes().update(changed)).isTrue();
    assertThat(ledger.volumes().find("a")).contains(changed);
    assertThat(ledger.volumes().remove("a")).isTrue();
    assertThat(ledger.volumes().remove("a")).isFalse();
    assertThat(ledger.volumes().update(changed)).isFalse();
    assertThat(ledger.volumes().find("a")).isEmpty();
  }

  @Test
  void volumeNameIsUnique() {
    assertThat(ledger.volumes().insert(volume("a", "name"))).isTrue();
    assertThat(ledger.volumes().insert(volume("b", "name"))).isFalse();
    assertThat(ledger.volumes().all()).containsExactly(volume("a", "name"));
    assertThat(ledger.volumes().findByName("other")).isEmpty();
  }
}
