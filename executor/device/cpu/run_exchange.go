package cpu

import "github.com/relgrad/relgrad/executor/device"

var _ = registerForm(func(x *device.Exchange, t *task) error { return t.m.port.Exchange(t.m.ctx, x, t.V.Data) })
