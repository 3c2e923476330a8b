// expect: exception
export default () => {
  // A script cannot pass its own error off as one of the sandbox's.
  throw Object.assign(new Error('succeeded'), { name: 'Interrupt', code: 'wall_time_exceeded', status: 'ok', retryable: true });
}
