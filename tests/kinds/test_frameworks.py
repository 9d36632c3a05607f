"""Tensors of frameworks and dtypes of other packages."""

from __future__ import annotations

import gc
import io
import sys
import weakref

import numpy as np
import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds import KINDS, frameworks
from summarykit.kinds.arrays import freeze, hold
from summarykit.kinds.frameworks import Fetched

EXTENSIONS = {
    "bfloat16": "float32",
    "float8_e4m3fn": "float16",
    "float8_e5m2": "float16",
    "float8_e4m3fnuz": "float16",
    "float8_e5m2fnuz": "float16",
    "float8_e4m3b11fnuz": "float16",
    "float8_e8m0fnu": "float32",
    "int4": "int8",
    "uint4": "uint8",
}


def every_pattern(dtype):
    width = dtype.itemsize * 8
    return np.arange(1 << width, dtype=f"uint{width}").view(dtype)


@pytest.mark.parametrize(("name", "native"), EXTENSIONS.items())
def test_va11_every_value_of_an_extension_dtype_is_exact(name, native):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"this ml_dtypes has no {name}")
    values = every_pattern(np.dtype(getattr(ml_dtypes, name)))
    frozen = freeze(values)
    assert (frozen.dtype, frozen.data.dtype) == (name, np.dtype(native))
    with np.errstate(invalid="ignore"):
        assert np.array_equal(frozen.data.astype(np.float64), values.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("kind", ["scalar", "histogram", "image", "tensor"])
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_va11_ml_dtypes_values_are_taken_by_every_kind(kind, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.full((1, 1) if kind == "scalar" else (4, 4), 0.75, getattr(ml_dtypes, name))
    assert content(kind, values) == 0.75


def content(kind, values):
    """The value that all elements share, as read back from the shape."""
    shape = KINDS.get(kind).reduce(KINDS.get(kind).snapshot(values))
    if kind == "scalar":
        return shape.value
    if kind == "histogram":
        assert shape.min == shape.max
        return shape.min
    if kind == "tensor":
        return float(np.unique(shape.data).item())
    return 0.75 if pixel_values(shape) == {191} else pixel_values(shape)


def pixel_values(image):
    pillow = pytest.importorskip("PIL.Image")
    return set(np.unique(np.asarray(pillow.open(io.BytesIO(image.encoded)))).tolist())


def test_va11_ml_dtypes_values_do_not_import_torch(run_script):
    pytest.importorskip("ml_dtypes")
    run_script("""
import sys
import ml_dtypes
import numpy as np
from summarykit.kinds import KINDS, frameworks
for name in ("scalar", "histogram", "image", "tensor"):
    kind = KINDS.get(name)
    kind.reduce(kind.snapshot(np.ones((1, 1) if name == "scalar" else (4, 4), ml_dtypes.bfloat16)))
assert not {"torch", "jax", "tensorflow", "mindspore"} & set(sys.modules), sorted(sys.modules)
""").expect_success()


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    @pytest.mark.parametrize("kind", ["scalar", "histogram", "image", "tensor"])
    @pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
    def test_va11_torch_values_are_taken_by_every_kind(self, torch, kind, name):
        values = torch.full((1, 1) if kind == "scalar" else (4, 4), 0.75).to(getattr(torch, name))
        assert content(kind, values) == 0.75

    @pytest.mark.parametrize(
        "name",
        ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"],
    )
    def test_the_dtype_is_remembered(self, torch, name):
        frozen = freeze(torch.ones(3).to(getattr(torch, name)))
        assert frozen.dtype == name
        assert frozen.data.tolist() == [1, 1, 1]

    def test_every_bfloat16_is_exact(self, torch):
        values = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(torch.bfloat16)
        assert np.array_equal(freeze(values).data, values.double().numpy(), equal_nan=True)

    @pytest.mark.parametrize("name", ["float32", "bfloat16"])
    def test_va13_a_torch_tensor_is_copied(self, torch, name):
        values = torch.ones(3, dtype=getattr(torch, name))
        frozen = freeze(values)
        values.fill_(9)
        assert frozen.data.tolist() == [1, 1, 1]

    @pytest.mark.parametrize("kind", ["scalar", "histogram", "tensor"])
    def test_va14_no_graph_is_kept_alive(self, torch, kind):
        class Payload:
            """Lives as long as the graph does."""

        class Identity(torch.autograd.Function):
            @staticmethod
            def forward(ctx, values):
                ctx.payload = Payload()
                payloads.append(weakref.ref(ctx.payload))
                return values * 1

        payloads = []
        loss = Identity.apply(torch.ones(1, requires_grad=True))
        assert payloads[0]() is not None
        kept = KINDS.get(kind).snapshot(loss)
        del loss
        gc.collect()
        assert payloads[0]() is None
        assert KINDS.get(kind).reduce(kept) is not None

    def test_va14_ten_thousand_losses_keep_no_memory(self, torch):
        kind, weight = KINDS.get("scalar"), torch.ones(1000, requires_grad=True)
        kept = [kind.snapshot((weight * step).sum()) for step in range(10_000)]
        assert all(type(value) is float for value in kept)
        assert kept[3] == 3000

    @pytest.mark.filterwarnings("ignore:.*quantized tensor creation:UserWarning")
    @pytest.mark.parametrize(
        ("make", "advice"),
        [
            (lambda torch: torch.eye(3).to_sparse(), "to_dense"),
            (lambda torch: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "dequantize"),
            (lambda torch: torch.ones(3, device="meta"), "meta"),
            (lambda torch: torch.ones(3, dtype=torch.complex64), "allowed"),
        ],
        ids=["sparse", "quantized", "meta", "complex"],
    )
    def test_what_holds_no_plain_numbers_is_refused_with_advice(self, torch, make, advice):
        with pytest.raises(RefusedValueError, match=advice):
            freeze(make(torch))

    def test_lazy_negation_and_conjugation_are_resolved(self, torch):
        values = torch.tensor([1 + 2j]).conj().imag
        assert values.is_neg()
        assert freeze(values).data.tolist() == [-2]

    def test_lists_of_tensors_are_stacked(self, torch):
        values = [torch.tensor(1.5, requires_grad=True), torch.tensor(2.5)]
        assert freeze(values).data.tolist() == [1.5, 2.5]

    def test_expanded_and_transposed_tensors_are_contiguous(self, torch):
        values = torch.arange(3.0).expand(2, 3).T
        frozen = freeze(values)
        assert frozen.data.flags.c_contiguous
        assert frozen.data.tolist() == values.tolist()

    def test_a_parameter_and_an_inference_tensor_are_taken(self, torch):
        assert freeze(torch.nn.Parameter(torch.ones(2))).data.tolist() == [1, 1]
        with torch.inference_mode():
            values = torch.ones(2)
        assert freeze(values).data.tolist() == [1, 1]

    def test_values_on_the_cpu_are_not_held(self, torch):
        assert hold(torch.ones(2)) is None


class Device:
    """Stands for an accelerator's framework: values are elsewhere until fetched."""

    dtype = "float32"

    def __init__(self, values):
        self.values = np.asarray(values, np.float32)
        self.fetched = 0

    shape = property(lambda self: self.values.shape)
    nbytes = property(lambda self: self.values.nbytes)


class DeviceFramework:
    def owns(self, kind):
        return issubclass(kind, Device)

    def hold(self, value):
        return Device(value.values.copy())

    def fetch(self, value):
        value.fetched += 1
        if np.isnan(value.values).any():
            raise RuntimeError("device lost")
        return Fetched(value.values, None, own=True)

    def item(self, value):
        return self.fetch(value).array.item()


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(frameworks, "_FRAMEWORKS", (DeviceFramework(), *frameworks._FRAMEWORKS))
    monkeypatch.setattr(frameworks, "_OWNERS", {})
    return Device


@pytest.mark.parametrize("kind", ["scalar", "histogram", "image", "tensor"])
def test_a_device_value_is_fetched_in_reduce_only(device, kind):
    value = device(np.full((1, 1) if kind == "scalar" else (4, 4), 0.75))
    kept = KINDS.get(kind).snapshot(value)
    value.values[:] = 0
    assert value.fetched == 0
    assert kept.nbytes == value.nbytes
    shape = KINDS.get(kind).reduce(kept)
    assert value.fetched == 0
    assert shape is not None


def test_va13_a_device_value_is_a_copy(device):
    value = device([1, 2])
    kept = freeze(value)
    value.values[:] = 9
    assert kept.get().data.tolist() == [1, 2]


def test_a_device_that_fails_costs_that_value(device):
    kept = KINDS.get("histogram").snapshot(device([np.nan]))
    with pytest.raises(RefusedValueError, match="device lost"):
        KINDS.get("histogram").reduce(kept)


class MindSporeTensor:
    """What of MindSpore's interface is used: ``asnumpy`` refuses bfloat16, ``float`` widens it."""

    def __init__(self, values, dtype):
        self.values, self.dtype = np.asarray(values, np.float32), dtype
        self.shape = self.values.shape

    def asnumpy(self):
        if self.dtype == "BFloat16":
            raise TypeError("bfloat16 is not supported")
        return self.values

    def float(self):
        return MindSporeTensor(self.values, "Float32")


@pytest.mark.parametrize(("dtype", "name"), [("Float32", "float32"), ("BFloat16", "bfloat16")])
def test_mindspore_tensors_are_taken(dtype, name):
    tensor = MindSporeTensor([1, 2], dtype)
    frozen = freeze(tensor)
    tensor.values[:] = 9
    assert (frozen.data.tolist(), frozen.dtype) == ([1, 2], name)


class TestJax:
    @pytest.fixture
    def jnp(self):
        return pytest.importorskip("jax.numpy")

    @pytest.mark.parametrize("kind", ["scalar", "histogram", "image", "tensor"])
    @pytest.mark.parametrize("name", ["bfloat16", "float32", "float16"])
    def test_va11_jax_values_are_taken_by_every_kind(self, jnp, kind, name):
        assert content(kind, jnp.full((1, 1) if kind == "scalar" else (4, 4), 0.75, name)) == 0.75

    def test_what_is_computed_is_read_and_copied_in_the_call(self, jnp):
        loss, weights = sys.modules["jax"].block_until_ready((jnp.float32(1.5), jnp.ones(3)))
        assert hold(loss) is hold(weights) is None
        frozen = freeze(weights)
        assert frozen.own
        assert not np.shares_memory(frozen.data, np.asarray(weights))

    def test_a_tracer_is_refused(self, jnp):
        jax = sys.modules["jax"]
        with pytest.raises(RefusedValueError, match="jitted"):
            jax.jit(lambda x: freeze(x) and x)(jnp.ones(3))

    def test_numbers_are_copied_once_a_step_was_given_the_memory_of_one(self, jnp, monkeypatch):
        monkeypatch.setattr(frameworks, "in_host", lambda array: False)    # as on a device that has yet to compute them
        jax_alone = type(frameworks.JAX)()
        step = sys.modules["jax"].jit(lambda count: count + 1, donate_argnums=0)
        count, held = jnp.float32(0), []
        for _ in range(4):
            count = step(count)
            held.append(jax_alone.hold(count))
        assert jax_alone.arrived(held[0])
        with pytest.raises(RefusedValueError, match="numbers to come are copied"):
            jax_alone.fetch(held[0])
        assert [float(jax_alone.fetch(each).array) for each in held[1:]] == [2, 3, 4]

    def test_a_number_that_is_donated_while_it_is_looked_at_costs_no_other(self, jnp, monkeypatch):
        monkeypatch.setattr(frameworks, "in_host", lambda array: False)
        step = sys.modules["jax"].jit(lambda count: count + 1, donate_argnums=0)
        jax_alone, count = type(frameworks.JAX)(), step(jnp.float32(0))

        class Crossed:
            """The number; another thread donates it right behind the first look."""

            ndim, dtype, is_fully_addressable, is_ready = 0, count.dtype, True, count.is_ready
            looks = 0

            def is_deleted(self):
                deleted, self.looks = count.is_deleted(), self.looks + 1
                if self.looks == 2:    # the first is that of the call that records it
                    step(count)
                return deleted

        assert isinstance(jax_alone.hold(crossed := Crossed()), Crossed)
        other = jnp.float32(5)
        assert float(jax_alone.fetch(jax_alone.hold(other)).array) == 5
        assert crossed.looks == 3
        assert jax_alone.hold(other) is not other    # numbers are copied from then on

    def test_a_number_that_nobody_donates_is_not_copied(self, jnp, monkeypatch):
        monkeypatch.setattr(frameworks, "in_host", lambda array: False)
        jax_alone = type(frameworks.JAX)()
        numbers = [jnp.float32(number) for number in range(4)]
        assert all(jax_alone.hold(number) is number for number in numbers)

    def test_a_random_key_is_refused_and_costs_no_number(self, jnp, monkeypatch):
        monkeypatch.setattr(frameworks, "in_host", lambda array: False)
        jax_alone = type(frameworks.JAX)()
        with pytest.raises(RefusedValueError, match="key_data"):
            jax_alone.hold(sys.modules["jax"].random.key(0))
        number = jnp.float32(1)
        assert jax_alone.hold(number) is number

    def test_a_deleted_array_is_refused(self, jnp):
        values = jnp.ones(3)
        values.delete()
        with pytest.raises(RefusedValueError, match="donated"):
            freeze(values)
